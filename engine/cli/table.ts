/** Tables for people: columns as wide as their longest cell, numbers to the right. */
export interface Column<Row> {
  readonly title: string;
  readonly right?: boolean;
  cell(row: Row): string | number | null;
}

const gap = '  ';

export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((column) => String(column.cell(row) ?? '–')));
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((line) => line[index]!.length)),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) => (columns[index]!.right ? text.padStart(widths[index]!) : text.padEnd(widths[index]!)))
      .join(gap)
      .trimEnd();
  return [line(columns.map((column) => column.title)), ...cells.map(line)].join('\n');
}

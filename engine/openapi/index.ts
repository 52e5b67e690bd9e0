/** The door of the OpenAPI document. */
import { type Described, openApiDocument } from './document.ts';

export { type Described, openApiDocument };

/** The document as text, made when it is first asked for and again after a reload. `publicUrl` holds until the restart. */
export function createDocumentText(publicUrl: string | null): (described: Described) => string {
  let last: Described | null = null;
  let text = '';
  return (described) => {
    if (described !== last) {
      text = `${JSON.stringify(openApiDocument(described, publicUrl))}\n`;
      last = described;
    }
    return text;
  };
}

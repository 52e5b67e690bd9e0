/** An id for what a vendor gave none: the prefix and 32 hexadecimal characters. */
export const madeId = (prefix: string): string => prefix + crypto.randomUUID().replaceAll('-', '');

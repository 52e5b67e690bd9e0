/** The subprotocols that a client offers (RFC 6455 4.1). */
export function offeredBy(headers: Readonly<Record<string, string>>): string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}

/** What a vendor thinks of a credential. */
export type Verdict = 'missing' | 'bad' | 'exhausted' | 'good';

/**
 * Any credential is good but those that start with `bad` or contain `invalid` (refused as wrong) and those that start
 * with `quota` (out of credit). A leading `sk-` or `xai-` is not looked at.
 */
export function judgeCredential(credential: string | undefined): Verdict {
  if (!credential) return 'missing';
  const name = credential.replace(/^(sk|xai)-/, '');
  if (name.startsWith('bad') || credential.includes('invalid')) return 'bad';
  return name.startsWith('quota') ? 'exhausted' : 'good';
}

export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
}

/** `sk-ab***yz`: what vendors repeat of a wrong key. */
export function maskCredential(credential: string): string {
  return credential.length < 9 ? '***' : `${credential.slice(0, 5)}***${credential.slice(-2)}`;
}

/** Twice, and a pause for what ends only then: what is still there is in use. */
export async function collectGarbage(): Promise<void> {
  for (let time = 0; time < 2; time++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

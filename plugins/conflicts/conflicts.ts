import { type Claim, definePlugin, GatewayError, type ImageCall, quoted } from '../../engine/plugin.ts';

const settingNames: Readonly<Record<Claim['setting'], string>> = {
  aspectRatio: 'aspect ratio',
  resolution: 'resolution',
};

/** The first claim of a setting that another field has claimed with a different value. */
function findConflict(claims: readonly Claim[]): readonly [Claim, Claim] | null {
  for (const [index, claim] of claims.entries()) {
    const other = claims.slice(0, index).find(({ setting }) => setting === claim.setting);
    if (other && other.value !== claim.value) return [other, claim];
  }
  return null;
}

/** `size` 1024x1024 (aspect ratio 1:1) */
function described({ param, setting, value }: Claim, call: ImageCall): string {
  const sent = `\`${param}\` ${quoted(call.fields[param]?.toString() ?? '')}`;
  return param === 'size' ? `${sent} (${settingNames[setting]} ${value})` : sent;
}

/** Spec 4.2 rule 2: fields that contradict each other are refused at once, before any channel is tried. */
export default definePlugin({
  name: 'conflicts',
  summary: 'Refuses image sizes that contradict each other.',
  options: { type: 'object', additionalProperties: false, properties: {} },
  requires: ['normalize'],
  create: () => ({
    onRequest({ call }) {
      if (call?.kind !== 'image') return undefined;
      const conflict = findConflict(call.claims);
      if (conflict === null) return undefined;
      const [one, other] = conflict;
      const message = `${described(other, call)} contradicts ${described(one, call)}. Send only one of them.`;
      throw new GatewayError('conflicting_parameters', message, { param: other.param });
    },
  }),
});

export default {
  name: 'auth',
  summary: 'Another one.',
  options: { type: 'object', additionalProperties: false, properties: {} },
  create: () => ({}),
};

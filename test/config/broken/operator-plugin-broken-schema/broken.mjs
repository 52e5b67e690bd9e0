export default {
  name: 'broken',
  summary: 'Broken.',
  options: { type: 'object', additionalProperties: false, properties: { a: { type: 'text' } } },
  create: () => ({}),
};

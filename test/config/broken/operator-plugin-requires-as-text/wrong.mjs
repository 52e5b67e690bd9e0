export default { name: 'wrong', summary: 'x', requires: 'auth', options: { type: 'object', additionalProperties: false, properties: {} }, create: () => ({}) };

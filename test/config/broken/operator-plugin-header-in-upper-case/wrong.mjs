export default { name: 'wrong', summary: 'x', headers: ['X-Team'], options: { type: 'object', additionalProperties: false, properties: {} }, create: () => ({}) };

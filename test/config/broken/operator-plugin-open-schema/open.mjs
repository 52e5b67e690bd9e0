export default { name: 'open', summary: 'Open.', options: { type: 'object' }, create: () => ({}) };

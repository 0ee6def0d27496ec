// Entry of the executable. The holder of the nodes' programs is a process of its own, which reads no more than it needs.
const [, , command, ...words] = process.argv;
if (command === 'hold') import('./holder/hold.ts').then(({ hold }) => hold(words));
else import('./commands.ts').then(({ main }) => main());

// Entry of the executable. The holder of the nodes' programs is a process of its own, which reads no more than it needs.
const [, , ...words] = process.argv;
if (words[0] === 'hold') import('./holder/hold.ts').then(({ hold }) => hold(words.slice(1)));
else import('./commands.ts').then(({ main }) => main(words));

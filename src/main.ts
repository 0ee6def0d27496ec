// Entry of the executable. The supervisor of the nodes' programs is a process of its own, which reads no more than it needs.
const [, , ...words] = process.argv;
if (words[0] === 'supervise') import('./supervisor/supervise.ts').then(({ supervise }) => supervise(words.slice(1)));
else import('./commands.ts').then(({ main }) => main(words));

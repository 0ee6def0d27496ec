// Hosts that the server chooses: the compute that stands for them.

/** The compute that a client names to leave the choice to the server. */
export const AUTO_ID = 'auto';

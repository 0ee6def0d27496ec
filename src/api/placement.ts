// Hosts that the server chooses: the compute that stands for them, and what placements and drains answer.

/** The compute that a client names to leave the choice to the server. */
export const AUTO_ID = 'auto';

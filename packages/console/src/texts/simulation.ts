/** Texts of the simulation of a demo. */
export const SIMULATION = {
  start: 'Let it live',
  stop: 'Stop the simulation',
  started: 'The registries of the demo live: every second a few events and searches come.',
  stopped: 'The simulation is stopped.',
} as const

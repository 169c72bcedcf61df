/** How a request is answered (spec "Endpoints"): with its result at once, or with an ack and the result in a callback. */
export type ModeName = 'sync' | 'async'

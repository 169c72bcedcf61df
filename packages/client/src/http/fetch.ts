/** The platform's `fetch`, or a function like it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

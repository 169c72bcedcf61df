/**
 * The store refuses a call because of its arguments, such as a malformed name or a value in use. The message is written
 * for the operator and has no personal data.
 */
export class StoreRefusal extends Error {
  override readonly name: string = 'StoreRefusal'
}

/** The store refuses a call that it would accept at another time: something that it needs does not work now. */
export class StoreUnavailable extends StoreRefusal {
  override readonly name = 'StoreUnavailable'
}

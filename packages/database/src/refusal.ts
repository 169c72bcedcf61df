/**
 * The store refuses a call because of its arguments: a name of the wrong form, a
 * value that is in use. The message is written for the operator and names no personal data.
 */
export class StoreRefusal extends Error {
  override readonly name: string = 'StoreRefusal'
}

/** The store refuses a call that it would take at another time, because something that it needs does not work now. */
export class StoreUnavailable extends StoreRefusal {
  override readonly name = 'StoreUnavailable'
}

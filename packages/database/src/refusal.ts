/**
 * Refuses a call because of its arguments, such as a malformed name or a value in use. The message is written for the
 * operator and has no personal data.
 */
export class StoreRefusal extends Error {
  override readonly name: string = 'StoreRefusal'
}

/** Refuses a call that may succeed later, because something that it needs does not work now. */
export class StoreUnavailable extends StoreRefusal {
  override readonly name = 'StoreUnavailable'
}

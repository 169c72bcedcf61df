/**
 * Refuses a call: an argument is wrong, such as a malformed name or a value in use, or the call is not possible now,
 * such as during an import. The message is written for the operator and has no personal data.
 */
export class StoreRefusal extends Error {
  override readonly name: string = 'StoreRefusal'
}

/** Refuses a call that may succeed later, because something that it needs does not work now. */
export class StoreUnavailable extends StoreRefusal {
  override readonly name = 'StoreUnavailable'
}

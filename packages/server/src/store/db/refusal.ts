/**
 * The store declines something that was asked of it, because of what was asked: a name of the wrong form, a
 * value that is taken. The message is written for the operator who asked and names no personal data.
 */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal'
}

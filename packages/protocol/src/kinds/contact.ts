import type { IdentifierType } from './kind.ts'

/** True when the type is a telephone or e-mail address, which several people may share. */
export const isContact = ({ normaliser }: Pick<IdentifierType, 'normaliser'>): boolean =>
  normaliser === 'phone' || normaliser === 'email'

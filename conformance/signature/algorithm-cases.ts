/** Algorithms and digests. */
import { PROFILES } from './cases.ts'
import { type Cases, edited, NO_KEY, NO_MATCH } from './common-cases.ts'

const { every } = PROFILES

const NOT_REGISTERED = 'algorithm must be one that is registered for the sender'
const ALIKE = 'kidId and algorithm must name the same algorithm'

export const algorithms: Cases[string] = {
  EdDSA: {
    'as ed25519': { profile: every },
    'as EdDSA': { edit: (text) => text.replaceAll('ed25519', 'EdDSA') },
    'named in two ways': { edit: edited('|ed25519"', '|EdDSA"'), invalid: ALIKE },
    'another one in kidId': { profile: every, edit: edited('|ed25519"', '|ES256"'), invalid: ALIKE },
    'said to be ES256': { profile: every, edit: (text) => text.replaceAll('ed25519', 'ES256'), invalid: NO_KEY },
  },
  ES256: {
    'r and s': { profile: every, key: 'system-es256' },
    'another message': { profile: every, key: 'system-es256', sent: { message: '{}' }, invalid: NO_MATCH },
    'not registered': { signed_as: every, key: 'system-es256', invalid: NOT_REGISTERED },
  },
  RS256: {
    'PKCS #1 v1.5': { profile: every, key: 'system-rs256' },
    'another message': { profile: every, key: 'system-rs256', sent: { message: '{}' }, invalid: NO_MATCH },
    'not registered': { signed_as: every, key: 'system-rs256', invalid: NOT_REGISTERED },
  },
  'nothing else': {
    registered: { profile: every },
    none: { profile: every, edit: (text) => text.replaceAll('ed25519', 'none'), invalid: NOT_REGISTERED },
    HMAC: { profile: every, edit: (text) => text.replaceAll('ed25519', 'HS256'), invalid: NOT_REGISTERED },
    'other letters': { profile: every, edit: (text) => text.replaceAll('ed25519', 'ED25519'), invalid: NOT_REGISTERED },
  },
  'digest prefix': {
    'SHA-256=': { profile: PROFILES.sha },
    'BLAKE-512=': { profile: PROFILES.blake },
    'a prefix where none is registered': { signed_as: PROFILES.sha, invalid: NO_MATCH },
    'none where one is registered': { profile: PROFILES.blake, signed_as: PROFILES.default, invalid: NO_MATCH },
  },
}

/** JWS with its payload and without. */
import { HEADER, MESSAGE, PROFILES, replaced } from './cases.ts'
import { ASTRAL, type Cases, edited, NAMES, NO_KEY, NO_MATCH, NUMBERS } from './common-cases.ts'

const { jws, jwsReceived, detached } = PROFILES

const base64Url = (text: string) => Buffer.from(text).toString('base64url')
const withHeader = (text: string) => (signature: string) => replaced(signature, /^[^.]+/, base64Url(text))
const withPayload = (text: string) => (signature: string) => replaced(signature, /\.[^.]*\./, `.${base64Url(text)}.`)
const NO_EXTRAS = 'the JWS header may have alg, kid, typ and cty and nothing else'
const NO_OBJECT = 'the JWS header must be a JSON object in canonical base64url'
const NO_ALG = 'alg must be an algorithm that is registered for the sender'
const NO_JWS = 'the signature must be a JWS in compact form'
const OTHER_PAYLOAD = 'the payload is not the header and message of the envelope'

const extras = ['crit', 'jwk', 'jku', 'x5u', 'x5c', 'b64', 'zip', 'nonce']

export const jwsLayouts: Cases[string] = {
  'the payload is header and message': {
    'as signed': { profile: jws },
    'the body spelt otherwise': {
      profile: jws,
      message: NUMBERS,
      sent: { message: '{"minus":-5e-1,"three":3,"small":0.0000001,"big":1000000000000000000000.0}' },
    },
    'integers beyond 2^53-1 that a double holds': {
      profile: jws,
      message: '{"a":9007199254740992,"b":10000000000000000,"c":100000000000000000000}',
    },
    'as received': { profile: jwsReceived, key: 'system-rs256', message: NUMBERS },
    'the body spelt otherwise, as received': {
      profile: jwsReceived,
      key: 'system-rs256',
      message: NUMBERS,
      sent: { message: replaced(NUMBERS, '3.0', '3') },
      invalid: OTHER_PAYLOAD,
    },
    'another message in the body': { profile: jws, sent: { message: '{}' }, invalid: OTHER_PAYLOAD },
    'another payload, the same as the body': {
      profile: jws,
      sent: { message: '{}' },
      edit: withPayload(`{"header":${HEADER},"message":{}}`),
      invalid: NO_MATCH,
    },
    'a payload with more': {
      profile: jws,
      edit: withPayload(`{"header":${HEADER},"message":${MESSAGE},"more":1}`),
      invalid: OTHER_PAYLOAD,
    },
    'a payload that is no JSON': { profile: jws, edit: withPayload('{'), invalid: 'the payload cannot be read as JSON' },
    'a payload with padding': {
      profile: jws,
      edit: edited(/\.([^.]*)\.([^.]*)$/, '.$1=.$2'),
      invalid: 'the payload must be UTF-8 in canonical base64url',
    },
    'no payload': { profile: jws, edit: edited(/\.[^.]*\./, '..'), invalid: 'the payload cannot be read as JSON' },
  },
  'the payload is left out': {
    'as signed': { profile: detached },
    ES256: { profile: detached, key: 'system-es256' },
    'non-ASCII, astral names and numbers': { profile: detached, message: `[${NAMES},${ASTRAL},${NUMBERS}]` },
    'another message': { profile: detached, sent: { message: '{}' }, invalid: NO_MATCH },
    'not left out': {
      profile: detached,
      signed_as: { ...jws, canonical_form: 'sorted-escaped' },
      invalid: 'the payload must be left out',
    },
  },
  'three parts': {
    three: { profile: jws },
    two: { profile: jws, edit: edited(/\.[^.]*$/, ''), invalid: NO_JWS },
    five: { profile: jws, edit: edited(/$/, '.e30.e30'), invalid: NO_JWS },
    'a signature in standard base64': {
      profile: jws,
      edit: edited(/$/, '=='),
      invalid: 'the signature must be canonical base64url',
    },
    'an empty signature': { profile: jws, edit: edited(/[^.]*$/, ''), invalid: 'the signature must be canonical base64url' },
    'a list of parameters': { profile: jws, signed_as: PROFILES.default, invalid: NO_JWS },
  },
  'alg and kid': {
    'both are signed': { profile: jws, key: 'system-rs256' },
    'another kid': { profile: jws, edit: withHeader('{"alg":"EdDSA","kid":"ed-2"}'), invalid: NO_KEY },
    'no kid, which is signed too': { profile: jws, edit: withHeader('{"alg":"EdDSA"}'), invalid: NO_MATCH },
    'no alg': { profile: jws, edit: withHeader('{"kid":"ed-1"}'), invalid: 'the JWS header has no alg' },
    none: { profile: jws, edit: withHeader('{"alg":"none","kid":"ed-1"}'), invalid: NO_ALG },
    'none without signature': {
      profile: jws,
      edit: (text) => `${withHeader('{"alg":"none"}')(text).split('.', 2).join('.')}.`,
      invalid: NO_ALG,
    },
    HMAC: { profile: jws, edit: withHeader('{"alg":"HS256","kid":"ed-1"}'), invalid: NO_ALG },
    'not registered': { profile: jws, edit: withHeader('{"alg":"ES256","kid":"es-1"}'), invalid: NO_ALG },
    'alg twice': { profile: jws, edit: withHeader('{"alg":"none","alg":"EdDSA","kid":"ed-1"}'), invalid: NO_OBJECT },
    'a kid that is no text': {
      profile: jws,
      edit: withHeader('{"alg":"EdDSA","kid":1}'),
      invalid: 'the members of the JWS header must be texts',
    },
    'a header that is no object': { profile: jws, edit: withHeader('["EdDSA"]'), invalid: NO_OBJECT },
  },
  'no keys from the message, no extensions': {
    'alg and kid alone': { profile: detached },
    ...Object.fromEntries(
      extras.map((name) => [
        name,
        { profile: detached, edit: withHeader(`{"alg":"EdDSA","kid":"ed-1","${name}":["x"]}`), invalid: NO_EXTRAS },
      ]),
    ),
  },
}

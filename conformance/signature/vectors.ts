/** The vectors: every clause with what is taken and what is refused. */
import { PLACEHOLDERS } from '../../packages/protocol/src/seal/signature/placeholders.ts'
import { type Case, CREATED, HEADER, MESSAGE, PROFILES, replaced } from './cases.ts'

/** By file, by clause, by name. */
export type Cases = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Case>>>>>>

const NO_MATCH = 'the signature does not belong to this header and message'
const NO_LIST = 'the signature must be a list of name="value" with commas between them'
const NO_BASE64 = 'signature must be canonical base64'
const OTHER_SENDER = replaced(HEADER, 'sp-system', 'other-system')
/** Of the verifier that looks the key up: no live key of that sender has that name and algorithm. */
const NO_KEY = 'the sender has no such key'

const edited = (from: string | RegExp, to: string) => (signature: string) => replaced(signature, from, to)

const { sorted, received, every, jws, jwsReceived, detached, raw } = PROFILES

const NUMBERS = '{"three":3.0,"small":1e-7,"big":1E+21,"minus":-0.50}'
const NAMES = '{"name":"Zoë Μαρία 王","note":"a\\u2028b\\/c\\u007f\\n"}'
const ASTRAL = '{"\u{1f600}":1,"\ufb00":2,"z":3}'

export const canonicalForms: Cases[string] = {
  'numbers: rfc8785 signs their values': {
    'as signed': { message: NUMBERS },
    'spelt otherwise': {
      message: NUMBERS,
      sent: { message: '{"minus":-5e-1,"three":3,"small":0.0000001,"big":1000000000000000000000.0}' },
    },
    'another value': {
      message: NUMBERS,
      sent: { message: replaced(NUMBERS, '1e-7', '1e-8') },
      invalid: NO_MATCH,
    },
  },
  'numbers: sorted-escaped signs how they are written': {
    'as signed': { profile: sorted, message: NUMBERS },
    'in another order': {
      profile: sorted,
      message: NUMBERS,
      sent: { message: '{"minus":-0.50, "three":3.0, "small":1e-7, "big":1E+21}' },
    },
    '3 for 3.0': {
      profile: sorted,
      message: NUMBERS,
      sent: { message: replaced(NUMBERS, '3.0', '3') },
      invalid: NO_MATCH,
    },
  },
  'numbers: integers beyond 2^53-1': {
    'the last one that rfc8785 can sign': { message: '{"n":9007199254740991}' },
    'the first one that it cannot': {
      message: '{"n":9007199254740991}',
      sent: { message: '{"n":9007199254740992}' },
      invalid: 'what is signed has no canonical form: an integer beyond 2^53-1 has no canonical JSON',
    },
    'sorted-escaped signs its digits': { profile: sorted, message: '{"n":12345678901234567890}' },
    'one digit differs': {
      profile: sorted,
      message: '{"n":12345678901234567890}',
      sent: { message: '{"n":12345678901234567891}' },
      invalid: NO_MATCH,
    },
  },
  'non-ASCII and escapes: rfc8785 signs characters': {
    'as signed': { message: NAMES },
    'spelt with escapes': {
      message: NAMES,
      sent: { message: '{"note":"a\u2028b/c\u007f\\u000a","name":"Zo\\u00eb Μαρία \\u738b"}' },
    },
    'e and a combining diaeresis are not ë': {
      message: NAMES,
      sent: { message: replaced(NAMES, 'ë', 'e\u0308') },
      invalid: NO_MATCH,
    },
  },
  'non-ASCII and escapes: sorted-escaped signs \\uXXXX': {
    'as signed': { profile: sorted, message: NAMES },
    'spelt otherwise': {
      profile: sorted,
      message: NAMES,
      sent: { message: '{"note":"a\u2028b/c\u007f\\u000a","name":"Zo\\u00EB Μαρία \\u738b"}' },
    },
    'made over the characters themselves': {
      profile: sorted,
      signed_as: PROFILES.default,
      message: NAMES,
      invalid: NO_MATCH,
    },
  },
  'astral member names': {
    'rfc8785 sorts by UTF-16 code units': { message: ASTRAL },
    'sorted-escaped sorts by code points': { profile: sorted, message: ASTRAL },
    'sorted by code points for rfc8785': {
      message: '{"z":3,"\ufb00":2,"\u{1f600}":1}',
      signed_as: received,
      header: replaced(HEADER, HEADER, sortedHeader()),
      invalid: NO_MATCH,
    },
  },
  'as-received signs the text': {
    'with its white space': { profile: received, message: '{ "b": 1.0,\n "a": [ 2, "\\u0061" ] }' },
    'white space around the values is not of them': {
      profile: received,
      message: '{"a":1}',
      body: (signature) =>
        `{ "message" : {"a":1} , "signature":${JSON.stringify(signature)},\n"header":\t${HEADER} }`,
    },
    'one blank more': {
      profile: received,
      message: '{"b":1}',
      sent: { message: '{"b": 1}' },
      invalid: NO_MATCH,
    },
    'another order': {
      profile: received,
      message: '{"b":1,"a":2}',
      sent: { message: '{"a":2,"b":1}' },
      invalid: NO_MATCH,
    },
  },
  'one member name, one member': {
    'names that differ': { message: '{"a":1,"A":2}' },
    'the same name twice': {
      message: '{"a":1}',
      sent: { message: '{"a":1,"\\u0061":2}' },
      invalid: 'the body is no JSON that is read here',
    },
    'the same part twice': {
      body: (signature) =>
        `{"signature":${JSON.stringify(signature)},"header":${HEADER},"message":{},"message":${MESSAGE}}`,
      invalid: 'the body is no JSON that is read here',
    },
  },
}

/** HEADER as RFC 8785 writes it, to vary nothing but the message. */
function sortedHeader(): string {
  const members = Object.entries(JSON.parse(HEADER) as Record<string, unknown>)
  return JSON.stringify(Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1))))
}

export const binding: Cases[string] = {
  'header and message are signed': {
    'as signed': {},
    'members outside of them are not': {
      body: (signature) =>
        `{"@context":"x","signature":${JSON.stringify(signature)},"header":${HEADER},"message":${MESSAGE}}`,
    },
    'a value of the message': { sent: { message: replaced(MESSAGE, '0001', '0002') }, invalid: NO_MATCH },
    'a value of the header': { sent: { header: replaced(HEADER, 'm-1', 'm-2') }, invalid: NO_MATCH },
    'the type of a value': { sent: { header: replaced(HEADER, ':1,', ':"1",') }, invalid: NO_MATCH },
    'a member more': { sent: { message: replaced(MESSAGE, '{', '{"a":null,') }, invalid: NO_MATCH },
    'a member less': { sent: { header: replaced(HEADER, ',"receiver_id":"civil"', '') }, invalid: NO_MATCH },
    'no message': {
      body: (signature) => `{"signature":${JSON.stringify(signature)},"header":${HEADER}}`,
      invalid: 'the envelope has no message',
    },
    'a header that is no object': { sent: { header: '[]' }, invalid: 'the envelope has no header' },
  },
  'the sender is bound': {
    'another sender with its own key': { header: OTHER_SENDER, key: 'other-ed25519' },
    'kidId of another sender': {
      key: 'other-ed25519',
      invalid: 'kidId names another sender than the header',
    },
    'kidId rewritten for the header': {
      key: 'other-ed25519',
      edit: edited('other-system|other-1', 'sp-system|ed-1'),
      invalid: NO_MATCH,
    },
    'header rewritten for the kidId': {
      key: 'other-ed25519',
      sent: { header: OTHER_SENDER },
      invalid: NO_MATCH,
    },
    'a key that is not known': { edit: edited('|ed-1|', '|ed-2|'), invalid: NO_KEY },
  },
  'created, expires and every byte of the signature are signed': {
    'as signed': { created: CREATED + 1 },
    created: { edit: edited(/created="\d+/, `created="${CREATED + 1}`), invalid: NO_MATCH },
    expires: { edit: edited(/expires="\d+/, `expires="${CREATED + 301}`), invalid: NO_MATCH },
    'the first byte': {
      edit: (text) => replaced(text, /signature="(.)/, `signature="${text.includes('e="A') ? 'B' : 'A'}`),
      invalid: NO_MATCH,
    },
    'cut short': { edit: edited(/[^"]{4}[^"]{4}"$/, '"'), invalid: NO_MATCH },
  },
}

const parameter = (name: string) => new RegExp(`${name}="[^"]*"`)

export const grammar: Cases[string] = {
  'a list of seven parameters': {
    'as the spec writes it': {},
    'with its leading name': { edit: (text) => `Signature: ${text}` },
    'without blanks': { edit: (text) => text.replaceAll(', ', ',') },
    'in another order': { edit: (text) => text.split(', ').reverse().join(', ') },
    'a parameter twice': {
      edit: edited(/^/, 'created="1", '),
      invalid: 'created occurs twice in the signature',
    },
    'the same one twice': {
      edit: edited(/^(namespace="\w+")/, '$1, $1'),
      invalid: 'namespace occurs twice in the signature',
    },
    'a parameter that is not known': {
      edit: edited(/$/, ', nonce="1"'),
      invalid: 'the signature has a parameter that is not known',
    },
    'keyId for kidId': {
      edit: edited('kidId', 'keyId'),
      invalid: 'the signature has a parameter that is not known',
    },
    'no namespace': { edit: edited(/^namespace="\w+", /, ''), invalid: 'the signature has no namespace' },
    'no kidId': { edit: edited(/kidId="[^"]*", /, ''), invalid: 'the signature has no kidId' },
    'no algorithm': { edit: edited(/algorithm="\w+", /, ''), invalid: 'the signature has no algorithm' },
    'no created': { edit: edited(/created="\d+", /, ''), invalid: 'the signature has no created' },
    'no expires': { edit: edited(/expires="\d+", /, ''), invalid: 'the signature has no expires' },
    'no headers': { edit: edited(/headers="[^"]*", /, ''), invalid: 'the signature has no headers' },
    'no signature': { edit: edited(/, signature="[^"]*"/, ''), invalid: 'the signature has no signature' },
    'a number without quotes': { edit: edited(/created="(\d+)"/, 'created=$1'), invalid: NO_LIST },
    'no last quote': { edit: edited(/"$/, ''), invalid: NO_LIST },
    'a comma at the end': { edit: edited(/$/, ','), invalid: NO_LIST },
    'text after it': { edit: edited(/$/, ' x'), invalid: NO_LIST },
    'an escape': { edit: edited('kidId="', 'kidId="\\"'), invalid: NO_LIST },
    'something else': { edit: () => 'valid', invalid: NO_LIST },
    'no text': { edit: () => 7, invalid: 'the signature must be a text' },
  },
  namespace: {
    'one of the list': { edit: edited('"registry"', '"g2"') },
    'another one': {
      edit: edited('"registry"', '"other"'),
      invalid: 'namespace is not one that is taken here',
    },
  },
  'kidId has three parts': {
    three: {},
    two: {
      edit: edited('sp-system|', ''),
      invalid: 'kidId must be sender_id, key and algorithm with | between them',
    },
    four: {
      edit: edited('|ed-1|', '|ed|1|'),
      invalid: 'kidId must be sender_id, key and algorithm with | between them',
    },
    empty: {
      edit: edited('|ed-1|', '||'),
      invalid: 'kidId must be sender_id, key and algorithm with | between them',
    },
  },
  'headers name what is signed': {
    'all three': {},
    'one less': {
      edit: edited(parameter('headers'), 'headers="(created) digest"'),
      invalid: 'headers must be "(created) (expires) digest"',
    },
    'another order': {
      edit: edited(parameter('headers'), 'headers="(expires) (created) digest"'),
      invalid: 'headers must be "(created) (expires) digest"',
    },
  },
  'times are whole seconds': {
    whole: {},
    'a leading zero': {
      edit: edited('created="', 'created="0'),
      invalid: 'created must be a Unix time in whole seconds',
    },
    'a sign': {
      edit: edited('created="', 'created="+'),
      invalid: 'created must be a Unix time in whole seconds',
    },
    'a fraction': {
      edit: edited(/expires="(\d+)/, 'expires="$1.0'),
      invalid: 'expires must be a Unix time in whole seconds',
    },
    'a date': {
      edit: edited(parameter('expires'), 'expires="2026-01-01T00:00:00Z"'),
      invalid: 'expires must be a Unix time in whole seconds',
    },
  },
  'base64 in one spelling': {
    'with its padding': {},
    'without it': { edit: edited(/=="$/, '"'), invalid: NO_BASE64 },
    'bits that no byte has': {
      edit: (text) => replaced(text, /(.)=="$/, '$1').slice(0, -1) + nextLetter(text),
      invalid: NO_BASE64,
    },
    'white space': { edit: edited(/signature="(.{8})/, 'signature="$1 '), invalid: NO_BASE64 },
    nothing: { edit: edited(parameter('signature'), 'signature=""'), invalid: NO_BASE64 },
  },
  'no signature': {
    'a signature': {},
    'no member': { edit: () => undefined, missing: 'the message has no signature' },
    null: { edit: () => null, missing: 'the message has no signature' },
    ...Object.fromEntries(
      PLACEHOLDERS.map((text) => [
        `placeholder "${text}"`,
        { edit: () => text, missing: 'the message has a placeholder instead of a signature' },
      ]),
    ),
    'what looks like a placeholder': { edit: () => 'Unsigned', invalid: NO_LIST },
  },
}

/** The last letter of 64 bytes in base64 has four bits of no byte: the letter after it has the same bytes. */
function nextLetter(signature: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const last = /(.)=="$/.exec(signature)?.[1] ?? ''
  return `${letters[letters.indexOf(last) + 1]}=="`
}

const NOT_REGISTERED = 'algorithm is not one that the sender registered'
const ALIKE = 'kidId and algorithm must name one algorithm alike'

export const algorithms: Cases[string] = {
  EdDSA: {
    'as ed25519': { profile: every },
    'as EdDSA': { edit: (text) => text.replaceAll('ed25519', 'EdDSA') },
    'named in two ways': { edit: edited('|ed25519"', '|EdDSA"'), invalid: ALIKE },
    'another one in kidId': { profile: every, edit: edited('|ed25519"', '|ES256"'), invalid: ALIKE },
    'said to be ES256': {
      profile: every,
      edit: (text) => text.replaceAll('ed25519', 'ES256'),
      invalid: NO_KEY,
    },
  },
  ES256: {
    'r and s': { profile: every, key: 'system-es256' },
    'another message': {
      profile: every,
      key: 'system-es256',
      sent: { message: '{}' },
      invalid: NO_MATCH,
    },
    'not registered': { signed_as: every, key: 'system-es256', invalid: NOT_REGISTERED },
  },
  RS256: {
    'PKCS #1 v1.5': { profile: every, key: 'system-rs256' },
    'another message': {
      profile: every,
      key: 'system-rs256',
      sent: { message: '{}' },
      invalid: NO_MATCH,
    },
    'not registered': { signed_as: every, key: 'system-rs256', invalid: NOT_REGISTERED },
  },
  'nothing else': {
    registered: { profile: every },
    none: {
      profile: every,
      edit: (text) => text.replaceAll('ed25519', 'none'),
      invalid: NOT_REGISTERED,
    },
    HMAC: {
      profile: every,
      edit: (text) => text.replaceAll('ed25519', 'HS256'),
      invalid: NOT_REGISTERED,
    },
    'other letters': {
      profile: every,
      edit: (text) => text.replaceAll('ed25519', 'ED25519'),
      invalid: NOT_REGISTERED,
    },
  },
  'digest prefix': {
    'SHA-256=': { profile: PROFILES.sha },
    'BLAKE-512=': { profile: PROFILES.blake },
    'a prefix where none is registered': { signed_as: PROFILES.sha, invalid: NO_MATCH },
    'none where one is registered': {
      profile: PROFILES.blake,
      signed_as: PROFILES.default,
      invalid: NO_MATCH,
    },
  },
}

const base64Url = (text: string) => Buffer.from(text).toString('base64url')
const withHeader = (text: string) => (signature: string) => replaced(signature, /^[^.]+/, base64Url(text))
const withPayload = (text: string) => (signature: string) =>
  replaced(signature, /\.[^.]*\./, `.${base64Url(text)}.`)
const NO_EXTRAS = 'the JWS header may have alg, kid, typ and cty and nothing else'
const NO_OBJECT = 'the JWS header must be a JSON object in canonical base64url'
const NO_ALG = 'alg is not one that the sender registered'
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
    'a payload that is no JSON': {
      profile: jws,
      edit: withPayload('{'),
      invalid: 'the payload is no JSON that is read here',
    },
    'a payload with padding': {
      profile: jws,
      edit: edited(/\.([^.]*)\.([^.]*)$/, '.$1=.$2'),
      invalid: 'the payload must be UTF-8 in canonical base64url',
    },
    'no payload': {
      profile: jws,
      edit: edited(/\.[^.]*\./, '..'),
      invalid: 'the payload is no JSON that is read here',
    },
  },
  'the payload is left out': {
    'as signed': { profile: detached },
    ES256: { profile: detached, key: 'system-es256' },
    'non-ASCII, astral names and numbers': {
      profile: detached,
      message: `[${NAMES},${ASTRAL},${NUMBERS}]`,
    },
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
    'an empty signature': {
      profile: jws,
      edit: edited(/[^.]*$/, ''),
      invalid: 'the signature must be canonical base64url',
    },
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
    'alg twice': {
      profile: jws,
      edit: withHeader('{"alg":"none","alg":"EdDSA","kid":"ed-1"}'),
      invalid: NO_OBJECT,
    },
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
        {
          profile: detached,
          edit: withHeader(`{"alg":"EdDSA","kid":"ed-1","${name}":["x"]}`),
          invalid: NO_EXTRAS,
        },
      ]),
    ),
  },
}

const NO_RAW_BASE64 = 'the signature must be canonical base64'
const RSA = { profile: raw, key: 'system-rs256' } as const

export const rawRsa: Cases[string] = {
  'header text followed by message text': {
    'as signed': RSA,
    'non-ASCII and white space': { ...RSA, message: `{ "a": ${NAMES} }` },
    'another message': { ...RSA, sent: { message: '{}' }, invalid: NO_MATCH },
    'one blank more': { ...RSA, sent: { header: replaced(HEADER, ',', ', ') }, invalid: NO_MATCH },
    'another sender': { ...RSA, sent: { header: OTHER_SENDER }, invalid: NO_KEY },
    'made over the object of both': {
      ...RSA,
      signed_as: { ...raw, layout: 'jws-detached' },
      edit: (text) => Buffer.from(text.split('.')[2] ?? '', 'base64url').toString('base64'),
      invalid: NO_MATCH,
    },
  },
  'base64 and nothing else': {
    base64: RSA,
    'a list of parameters': { ...RSA, signed_as: every, invalid: NO_RAW_BASE64 },
    'without padding': { ...RSA, edit: edited(/=+$/, ''), invalid: NO_RAW_BASE64 },
    'with a line end': { ...RSA, edit: edited(/^(.{64})/, '$1\n'), invalid: NO_RAW_BASE64 },
  },
}

const HOUR = 3600
const DAY = 24 * HOUR

export const freshness: Cases[string] = {
  'created is not in the future': {
    'a clock that is 60 seconds behind': { now: CREATED - 60 },
    '61 seconds': { now: CREATED - 61, invalid: 'created is in the future' },
  },
  'expires is not in the past': {
    'a clock that is 60 seconds ahead': { now: CREATED + 360 },
    '61 seconds': { now: CREATED + 361, invalid: 'the signature has expired' },
  },
  'at most one hour': {
    'one hour': { expires: CREATED + HOUR },
    'one second more': {
      expires: CREATED + HOUR + 1,
      invalid: 'created and expires must be at most one hour apart',
    },
    'nothing at all': { expires: CREATED, invalid: 'expires must be later than created' },
    'less than nothing': { expires: CREATED - 1, invalid: 'expires must be later than created' },
  },
  'without expiry message_ts counts': {
    'a day old': { profile: jws, now: CREATED + DAY },
    'a second more': {
      profile: jws,
      now: CREATED + DAY + 1,
      invalid: 'message_ts is too old for a signature without expiry',
    },
    'five minutes ahead': { ...RSA, now: CREATED - 300 },
    'a second more ahead': { ...RSA, now: CREATED - 301, invalid: 'message_ts is in the future' },
    'four days old on a callback path': { profile: detached, now: CREATED + 4 * DAY, callback: true },
    'a second more on a callback path': {
      profile: detached,
      now: CREATED + 4 * DAY + 1,
      callback: true,
      invalid: 'message_ts is too old for a signature without expiry',
    },
    'no zone': {
      profile: jws,
      header: replaced(HEADER, '00Z', '00'),
      invalid: 'message_ts must be a date-time with a time zone',
    },
    'no message_ts': {
      profile: jws,
      header: replaced(HEADER, /"message_ts":"[^"]*",/, ''),
      invalid: 'message_ts must be a date-time with a time zone',
    },
  },
}

/** By the name of their file. */
export const FILES: Cases = {
  'canonical-forms': canonicalForms,
  binding,
  grammar,
  algorithms,
  jws: jwsLayouts,
  'raw-rsa': rawRsa,
  freshness,
}

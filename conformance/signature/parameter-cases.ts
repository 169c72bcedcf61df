/** The layout of the specification: what is bound by it, its grammar. */
import { PLACEHOLDERS } from '../../packages/protocol/src/trust/signature/problem.ts'
import { CREATED, HEADER, MESSAGE, replaced } from './cases.ts'
import { type Cases, edited, NO_BASE64, NO_KEY, NO_LIST, NO_MATCH, OTHER_SENDER } from './common-cases.ts'

export const binding: Cases[string] = {
  'header and message are signed': {
    'as signed': {},
    'members outside of them are not': {
      body: (signature) => `{"@context":"x","signature":${JSON.stringify(signature)},"header":${HEADER},"message":${MESSAGE}}`,
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
    'kidId of another sender': { key: 'other-ed25519', invalid: 'kidId must name the sender_id of the header' },
    'kidId rewritten for the header': {
      key: 'other-ed25519',
      edit: edited('other-system|other-1', 'sp-system|ed-1'),
      invalid: NO_MATCH,
    },
    'header rewritten for the kidId': { key: 'other-ed25519', sent: { header: OTHER_SENDER }, invalid: NO_MATCH },
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
    'a parameter twice': { edit: edited(/^/, 'created="1", '), invalid: 'created occurs twice in the signature' },
    'the same one twice': { edit: edited(/^(namespace="\w+")/, '$1, $1'), invalid: 'namespace occurs twice in the signature' },
    'a parameter that is not known': { edit: edited(/$/, ', nonce="1"'), invalid: 'the signature has an unknown parameter' },
    'keyId for kidId': { edit: edited('kidId', 'keyId'), invalid: 'the signature has an unknown parameter' },
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
    'another one': { edit: edited('"registry"', '"other"'), invalid: 'namespace must be one that the receiver accepts' },
  },
  'kidId has three parts': {
    three: {},
    two: { edit: edited('sp-system|', ''), invalid: 'kidId must be written sender_id|kid|algorithm' },
    four: { edit: edited('|ed-1|', '|ed|1|'), invalid: 'kidId must be written sender_id|kid|algorithm' },
    empty: { edit: edited('|ed-1|', '||'), invalid: 'kidId must be written sender_id|kid|algorithm' },
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
    'a leading zero': { edit: edited('created="', 'created="0'), invalid: 'created must be a Unix time in whole seconds' },
    'a sign': { edit: edited('created="', 'created="+'), invalid: 'created must be a Unix time in whole seconds' },
    'a fraction': { edit: edited(/expires="(\d+)/, 'expires="$1.0'), invalid: 'expires must be a Unix time in whole seconds' },
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

/** The answers that both servers must give. */

/** Where the floor finds a signature of ours, as it stands in an answer, to answer with one of the same length. */
export const SIGNATURE_VARIABLE = 'BENCH_SIGNATURE'
/** The variable that names the floor of a search; unset: the floor that commits each entry by itself, as we do. */
export const FLOOR_VARIABLE = 'BENCH_FLOOR'
/** `plain` writes no entry; `one-commit` writes it in one statement with the row that remembers the message. */
export const OTHER_FLOORS = ['plain', 'one-commit'] as const
export type OtherFloor = (typeof OTHER_FLOORS)[number]

/** The signature of an answer of ours: as it stands there, a JSON string. */
export function signatureOf(answer: string): string {
  const signature = /,"signature":("(?:[^"\\]|\\.)*")[,}]/.exec(answer)?.[1]
  if (signature === undefined) throw new Error('an answer has no signature')
  return signature
}

/** The text before the value of a signature, which is 64 bytes in base64, and the text after it. */
export function aroundSignatureValue(signature: string): [before: string, after: string] {
  const [before, after, ...more] = signature.split(SIGNATURE_VALUE)
  if (before === undefined || after === undefined || more.length > 0) throw new Error('not a signature of ours')
  return [before, after]
}

const SIGNATURE_VALUE = /[A-Za-z\d+/]{86}==/

/** Throws an Error unless the answer says that one record was found, and has the record with this identifier. */
export function checkAnswer(status: number, body: string, identifier: string): void {
  if (status !== 200) throw new Error(`an answer has status ${status}`)
  const { header, message } = JSON.parse(body)
  if (header.status !== 'succ') throw new Error(`a search was rejected: ${header.status_reason_code}`)
  const [item] = message.search_response
  if (item.pagination.total_count !== 1 || item.data.reg_records.length !== 1) {
    throw new Error('an answer has not exactly one record')
  }
  const named = JSON.stringify(item.data.reg_records[0].identifier).includes(JSON.stringify(identifier))
  if (!named) throw new Error('an answer has another record')
}

/** Throws an Error unless both are the same bytes, but for ids, times and the signature, of the same length. */
export function checkSameBytes(ours: string, floor: string): void {
  if (masked(ours) !== masked(floor)) throw new Error('the floor answers with other bytes')
}

function masked(answer: string): string {
  return answer
    .replaceAll(/"[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}"/g, '"an id"')
    .replaceAll(/("message_ts"|"timestamp"):"[\d-]{10}T[\d:.]{12}Z"/g, '$1:"a time"')
    .replaceAll(/(created|expires)=\\"\d{10}\\"/g, '$1=a time')
    .replace(SIGNATURE_VALUE, 'a value')
}

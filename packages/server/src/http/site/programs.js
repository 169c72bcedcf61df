/*
 * The request on the screen of the reference page as a program. The server gives the text of each program, with a mark
 * where it says who asks, and one where it asks (`reference.ts`).
 */
const literal = (value) => JSON.stringify(value, null, 2).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')

const PYTHON_WORDS = { true: 'True', false: 'False', null: 'None' }
const pythonLiteral = (value) =>
  literal(value).replaceAll(/"(?:[^"\\]|\\.)*"|true|false|null/g, (token) => PYTHON_WORDS[token] ?? token)

const javaJson = (value) => `json(${literal(JSON.stringify(value))})`

/* The call by language; `header` has what the program does not write by itself. */
const CALLS = {
  typescript: ({ name, later }, { header: { meta }, message: { transaction_id, ...content } }) =>
    `${later ? 'askAsync' : 'ask'}(${literal(name)}, ${literal(content)}, ${literal({ transaction_id, meta })})`,
  python: ({ path, later }, { header, message }) =>
    `${later ? 'ask_later' : 'ask'}(${literal(path)}, ${pythonLiteral(header)}, ${pythonLiteral(message)})`,
  java: ({ path, later }, { header, message }) =>
    `${later ? 'askLater' : 'ask'}(${literal(path)}, ${javaJson(header)}, ${javaJson(message)})`,
}

/* In TypeScript the client is told the address of callbacks, elsewhere the header has it. */
const senderOf = (language, { sender_id, sender_uri }) =>
  language === 'typescript' && sender_uri ? `${literal(sender_id)},\n  sender_uri: ${literal(sender_uri)}` : literal(sender_id)

globalThis.programOf = ({ base, texts, operations }, language, { url, body }) => {
  const comment = language === 'python' ? '#' : '//'
  try {
    const path = new URL(url).pathname.replace(base, '')
    const { header: all, message } = JSON.parse(body)
    const { action, total_count, sender_uri, meta } = all
    const call = CALLS[language]({ path, ...operations[path] }, { header: { action, total_count, sender_uri, meta }, message })
    if (operations[path] === undefined) throw new TypeError('no operation of the registry has this path')
    return texts[language].replace('"%SENDER%"', () => senderOf(language, all)).replace('%CALL%', () => call)
  } catch {
    return `${comment} This request is no message to the registry; the text for curl sends it.\n`
  }
}

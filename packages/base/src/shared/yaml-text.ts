/** Members of a YAML file, each on a line. */

/** A name or a word; a plain one needs no quotation marks. JSON is YAML too. */
export const nameText = (text: string): string =>
  /^[A-Za-z][\w .-]*(\[\w+\])?$/.test(text) && text.trim() === text ? text : JSON.stringify(text)

/** A member with a text, or with an object whose members stand on the same line. */
export function memberText(name: string, value: unknown): string {
  return `${nameText(name)}: ${flow(value)}`
}

function flow(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  const members = Object.entries(value as Record<string, unknown>)
  const shown = members.map(([name, one]) => `${name}: ${JSON.stringify(one)}`)
  return `{ ${shown.join(', ')} }`
}

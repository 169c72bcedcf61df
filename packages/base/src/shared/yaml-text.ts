/** Makes the texts of members of a YAML file, each on one line. */

/** Words that YAML 1.2 reads as values other than texts. */
const YAML_KEYWORD_PATTERN = /^(?:null|true|false)$/i

/** A name or word for YAML, in JSON quotes when it is not plain: JSON is YAML too. */
export const yamlName = (text: string): string =>
  /^[A-Za-z][\w .-]*(\[\w+\])?$/.test(text) && text.trim() === text && !YAML_KEYWORD_PATTERN.test(text)
    ? text
    : JSON.stringify(text)

/** A member whose value is a text, or an object that is written on the same line. */
export function yamlMember(name: string, value: unknown): string {
  return `${yamlName(name)}: ${yamlFlowValue(value)}`
}

function yamlFlowValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  const members = Object.entries(value as Record<string, unknown>)
  const shown = members.map(([name, one]) => `${name}: ${JSON.stringify(one)}`)
  return `{ ${shown.join(', ')} }`
}

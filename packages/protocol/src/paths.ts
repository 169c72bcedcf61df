/** The form of a place inside a message in reasons: `message.search_request[3].locale`. */

/** A step into a JSON value: a member's name or an element's index. */
export type PathStep = string | number

const PLAIN_NAME = /^[A-Za-z_@$][\w@$:-]{0,63}$/
const NAME_MAX_LENGTH = 64
/** Characters; the rest of a reason's length is for the rule. */
const PATH_MAX_LENGTH = 400

/**
 * The path as text. A name that is no plain word is quoted and cut at 64 characters, and deeper parts after some 400
 * characters become "...", so that a path stays readable whatever a peer sends.
 */
export function pathText(steps: readonly PathStep[]): string {
  let text = ''
  for (const step of steps) {
    if (text.length > PATH_MAX_LENGTH) return `${text}...`
    if (typeof step === 'number') text += `[${step}]`
    else if (!PLAIN_NAME.test(step)) text += `[${JSON.stringify(step.slice(0, NAME_MAX_LENGTH))}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}

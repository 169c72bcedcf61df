/** Returns the place of a value in a message as text, for error messages: `message.search_request[3].locale`. */

/** One step into a JSON value: the name of a member or the index of an element. */
export type PathStep = string | number

const PLAIN_NAME_PATTERN = /^[A-Za-z_@$][\w@$:-]{0,63}$/
const MEMBER_NAME_MAX_LENGTH = 64
/** A path is cut after the step that makes it longer than this (characters): the broken rule must fit into the text after it. */
const PATH_MAX_LENGTH = 400

/**
 * The path as text. An unusual name is quoted and cut at 64 characters, and a long path ends in "...", so that it is
 * readable whatever a peer sends.
 */
export function pathText(steps: readonly PathStep[]): string {
  let text = ''
  for (const step of steps) {
    if (text.length > PATH_MAX_LENGTH) return `${text}...`
    if (typeof step === 'number') text += `[${step}]`
    else if (!PLAIN_NAME_PATTERN.test(step)) text += `[${JSON.stringify(step.slice(0, MEMBER_NAME_MAX_LENGTH))}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}

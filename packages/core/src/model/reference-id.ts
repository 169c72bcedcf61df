/** Reads the reference_ids of the items in a batch (N2): 1 to 99 characters, each different. */

const MAX_REFERENCE_ID = 99

/** The reference_id of an item for the answer, cut to 99 characters; empty when it is no text. */
export function referenceId({ reference_id }: { readonly [member: string]: unknown }): string {
  return typeof reference_id === 'string' ? firstCharacters(reference_id, MAX_REFERENCE_ID) : ''
}

/** The first characters of a text. Counts code points, so that no surrogate pair is cut in half. */
function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  return [...text.slice(0, count * 2)].slice(0, count).join('')
}

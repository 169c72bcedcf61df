/**
 * The ids of live records: the keys of their rows behind a mark. Ids of copies are numbers, so an id that was kept before its registry
 * changed its way is never that of another record.
 */

const MARK = '='

/** An id that no live record has. */
export const NO_LIVE_RECORD = MARK

export const liveId = (key: string): string => `${MARK}${key}`

/** Whether it is the id of a live record, or of none. */
export const isLive = (id: string): boolean => id.startsWith(MARK)

/** The key in a live id; null: it is not the id of a live record. */
export const keyOfLive = (id: string): string | null =>
  isLive(id) && id !== NO_LIVE_RECORD ? id.slice(MARK.length) : null

/** SQL of `liveId`. @param key SQL of a text */
export const liveIdOf = (key: string): string => `'${MARK}' || ${key}`

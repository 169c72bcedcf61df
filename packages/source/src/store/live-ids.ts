/**
 * The ids of live records: a mark, and the key of the row. Ids of copies are numbers. So an id that was stored before a registry
 * changed from one to the other never becomes the id of another record.
 */

const LIVE_ID_PREFIX = '='

/** An id that no live record has. */
export const NO_LIVE_RECORD_ID = LIVE_ID_PREFIX

/** The id of the live record with this key. */
export const liveId = (key: string): string => `${LIVE_ID_PREFIX}${key}`

/** True when an id is that of a live record, or `NO_LIVE_RECORD_ID`. */
export const isLiveId = (id: string): boolean => id.startsWith(LIVE_ID_PREFIX)

/** The key in a live id; null: it is not the id of a live record. */
export const keyOfLiveId = (id: string): string | null =>
  isLiveId(id) && id !== NO_LIVE_RECORD_ID ? id.slice(LIVE_ID_PREFIX.length) : null

/** The SQL of `liveId`. @param key SQL of a text */
export const liveIdSql = (key: string): string => `'${LIVE_ID_PREFIX}' || ${key}`

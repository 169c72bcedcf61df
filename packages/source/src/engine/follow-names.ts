/** The ways in which a mirror finds what has changed in its source; `mirror/feeds.ts` has a row for each. */

import type { EngineName } from './engine-names.ts'

export const FOLLOW_NAMES = ['logical', 'poll'] as const
export type FollowName = (typeof FOLLOW_NAMES)[number]

/** The ways of each engine. */
export const FOLLOWED: Readonly<Record<EngineName, readonly FollowName[]>> = {
  postgresql: FOLLOW_NAMES,
  mariadb: ['poll'],
  mysql: ['poll'],
}

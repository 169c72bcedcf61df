/** The ways in which a mirror finds changes of its source; `mirror/feeds.ts` has a row for each. */

import type { EngineName } from './engine-names.ts'

/** The ways in which a mirror follows its source: by PostgreSQL's or MariaDB's log, or by polling a column of changes. */
export const FOLLOW_WAYS = ['logical', 'binlog', 'poll'] as const
export type FollowWay = (typeof FOLLOW_WAYS)[number]

/** The ways in which a mirror can follow a source of each engine. */
export const FOLLOW_WAYS_BY_ENGINE: Readonly<Record<EngineName, readonly FollowWay[]>> = {
  postgresql: ['logical', 'poll'],
  mariadb: ['binlog', 'poll'],
  mysql: ['poll'],
}

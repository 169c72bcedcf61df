/** The feed for each way of following a source, as rows. */

import type { FollowWay } from '../engine/follow-ways.ts'
import type { ChangeFeed } from './feed.ts'
import { logFeed } from './log-feed.ts'
import type { MirrorDeps } from './mirror-deps.ts'
import { pollFeed } from './poll-feed.ts'

const FEED_CREATORS: Readonly<Record<FollowWay, (deps: MirrorDeps) => ChangeFeed>> = {
  logical: logFeed,
  binlog: logFeed,
  poll: pollFeed,
}

export const openFeed = (deps: MirrorDeps): ChangeFeed => FEED_CREATORS[deps.file.mirror.follow](deps)

/** The feed for each way of following a source, as rows. */

import type { FollowWay } from '../engine/follow-ways.ts'
import type { ChangeFeed } from './feed.ts'
import { createLogFeed } from './log-feed.ts'
import type { MirrorDeps } from './mirror-deps.ts'
import { createPollFeed } from './poll-feed.ts'

const FEED_CREATORS: Readonly<Record<FollowWay, (deps: MirrorDeps) => ChangeFeed>> = {
  logical: createLogFeed,
  binlog: createLogFeed,
  poll: createPollFeed,
}

export const openFeed = (deps: MirrorDeps): ChangeFeed => FEED_CREATORS[deps.file.mirror.follow](deps)

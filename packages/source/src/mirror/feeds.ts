/** The ways in which a mirror follows its source, as rows. */

import type { FollowName } from '../engine/follow-names.ts'
import type { ChangeFeed } from './feed.ts'
import { logicalFeed } from './logical-feed.ts'
import type { MirrorDeps } from './mirror-deps.ts'
import { pollFeed } from './poll-feed.ts'

const FEEDS: Readonly<Record<FollowName, (deps: MirrorDeps) => ChangeFeed>> = { logical: logicalFeed, poll: pollFeed }

export const openFeed = (deps: MirrorDeps): ChangeFeed => FEEDS[deps.file.mirror.follow](deps)

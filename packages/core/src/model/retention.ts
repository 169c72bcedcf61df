/** How long data are stored: a row for each sort of data. `docs/retention.md` has the same rows. */
import { LIMITS, type LimitName, type Limits } from '../limits.ts'

export const SECONDS_PER_DAY = 86_400

/**
 * Days for which operator tokens and proposals are stored after their end, so that the operator in an old audit entry can still
 * be found.
 */
export const OPERATOR_TOKEN_RETENTION_DAYS = 90

export interface RetentionRule {
  readonly name: string
  /** The data that are deleted at this age, in words. */
  readonly what: string
  /** The age at which the data are deleted, in seconds. */
  readonly seconds: number
  /** The environment variables that set the age; empty when the age is a constant. */
  readonly variables: readonly string[]
}

const variablesOfLimits = (...names: readonly LimitName[]): readonly string[] => names.map((name) => LIMITS[name].variable)

/** Seconds for which events are stored: the longest time for which a notification, an exchange or a correction may need them. */
export const eventRetentionSeconds = ({ exchange_retention, notification_retention, correction_time }: Limits): number =>
  Math.max(exchange_retention, notification_retention, correction_time * SECONDS_PER_DAY)

/**
 * Seconds after the end of a day until the key is destroyed that encrypts the stored messages of this day. Until then, an
 * exchange, a delivery or the inbox may need them.
 */
export const bodyKeyRetentionSeconds = ({ exchange_retention, notification_retention, inbox_retention }: Limits): number =>
  Math.max(exchange_retention, notification_retention, inbox_retention)

export const retentionRules = (limits: Limits): readonly RetentionRule[] => [
  {
    name: 'exchanges',
    what: 'requests, results, deliveries with their attempts, receipts',
    seconds: limits.exchange_retention,
    variables: variablesOfLimits('exchange_retention'),
  },
  {
    name: 'inbox',
    what: 'callbacks that were received',
    seconds: limits.inbox_retention,
    variables: variablesOfLimits('inbox_retention'),
  },
  {
    name: 'events',
    what: 'events, notifications, ended subscriptions, unused mailboxes',
    seconds: eventRetentionSeconds(limits),
    variables: variablesOfLimits('exchange_retention', 'notification_retention'),
  },
  {
    name: 'body_keys',
    what: 'the keys of days: every body that is left of such a day, also in backups',
    seconds: bodyKeyRetentionSeconds(limits),
    variables: variablesOfLimits('exchange_retention', 'notification_retention', 'inbox_retention'),
  },
  {
    name: 'operator_tokens',
    what: 'operator tokens that were revoked or have expired',
    seconds: OPERATOR_TOKEN_RETENTION_DAYS * SECONDS_PER_DAY,
    variables: [],
  },
  {
    name: 'proposals',
    what: 'proposals of acts for a second operator, after they have lapsed or would have',
    seconds: OPERATOR_TOKEN_RETENTION_DAYS * SECONDS_PER_DAY,
    variables: [],
  },
  {
    name: 'accounts',
    what: 'audit entries, in whole months',
    seconds: limits.account_retention * SECONDS_PER_DAY,
    variables: variablesOfLimits('account_retention'),
  },
]

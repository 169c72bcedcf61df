/** What to do about each code: the column of docs/troubleshooting.md that people write. */
import type { CodeRow } from '../../packages/protocol/src/codes.ts'

/** A code without advice does not compile. `sender` is for whoever got the code, `operator` for whom it asks for help. */
export interface Advice {
  readonly sender: string
  readonly operator?: string
}

export const ADVICE: Readonly<Record<CodeRow['code'], Advice>> = {
  'err.request.bad': {
    sender: 'Correct the message as the text says, and send it with a new message_id.',
    operator: 'The access log has the time, the participant and the code, never the content.',
  },
  'err.request.unauthorized': {
    sender: 'Get a new access token from this server, and send the same message again.',
    operator:
      '`rollcall participant list` shows whether it is disabled; `rollcall participant secret rotate` makes a new secret.',
  },
  'err.request.forbidden': {
    sender:
      'Ask the operator of the registry for a grant that has this operation, and check that you do not ask a live registry as a sandbox participant.',
    operator: '`rollcall grant explain SENDER_ID NAMESPACE` says what is granted, from when and until when.',
  },
  'err.request.not_found': {
    sender: 'Compare namespace, version and path with the reference page of the registry.',
    operator: '`rollcall registry list` shows the namespaces that there are.',
  },
  'err.request.timeout': {
    sender: 'Send the same message again, or less at a time.',
    operator:
      'Look at the time of searches in the metrics, at missing indexes (`rollcall index plan`), and at `pg_stat_statements` of PostgreSQL ([limits.md](limits.md)).',
  },
  'err.version.not_supported': { sender: 'Write `"version": "1.0.0"` into the header.' },
  'err.request.too_many_requests': {
    sender: 'Wait as `Retry-After` says, and send the same message again.',
    operator: '`rollcall participant limits` changes those of a participant; [limits.md](limits.md) has those of the server.',
  },
  'err.sender_id.invalid': { sender: 'Write into `header.sender_id` the name to which the client of your token belongs.' },
  'err.sender_uri.invalid': {
    sender: 'Ask the operator to allow the address, or leave `sender_uri` out: the answer then goes to your registered address.',
    operator:
      '`rollcall participant callback SENDER_ID --allow ADDRESS`; for another port, a private network or plain HTTP also `rollcall participant host allow`.',
  },
  'err.receiver_id.invalid': {
    sender: 'Write the `sender_id` of the registry into `receiver_id`, or leave it out.',
    operator: '`rollcall registry list` shows the name of each registry.',
  },
  'err.signature.missing': {
    sender: 'Sign the message ([signature.md](signature.md)). A placeholder is no signature.',
    operator: 'Only in a migration: `rollcall participant policy SENDER_ID --signature if-present --allow-unsigned`.',
  },
  'err.signature.invalid': {
    sender:
      'Compare your bytes with the vectors in `conformance/signature`. Usual causes: another order of members, another key, a wrong clock, a message that was changed after it was signed.',
    operator:
      '`rollcall keys probe message.json --key public-key.pem` finds out how it signs ([onboarding.md](onboarding.md#3-how-it-signs)).',
  },
  'err.encryption.invalid': {
    sender:
      'Get our public key anew from `/.well-known/jwks.json`, and encrypt again. Register a key of yours, with which the answer is encrypted.',
    operator: 'Look at `rollcall participant policy SENDER_ID` and `rollcall participant key list SENDER_ID`.',
  },
  'err.service.unavailable': {
    sender: 'Wait as `Retry-After` says, or some seconds, and send the same message again. It is answered once.',
    operator: 'Look at `/ready` and at the log ([monitoring.md](monitoring.md)).',
  },

  'rjct.version.invalid': { sender: 'Write `"version": "1.0.0"` into the header.' },
  'rjct.message_id.duplicate': { sender: 'Use a new message_id for every new message, such as a UUID.' },
  'rjct.message_ts.invalid': {
    sender: 'Set your clock, and write the present time with its zone into `message_ts`.',
    operator: 'The window is `ROLLCALL_MESSAGE_TS_WINDOW` ([limits.md](limits.md)).',
  },
  'rjct.action.invalid': {
    sender: 'Send the message to the path of its action, or write the action of the path into the header.',
  },
  'rjct.action.not_supported': { sender: 'Correct the spelling of `header.action`.' },
  'rjct.total_count.invalid': { sender: 'Write the number of items of the message into `total_count`.' },
  'rjct.total_count.limit_exceeded': {
    sender: 'Send the items in several messages, or as a file ([uploads.md](uploads.md)).',
    operator: 'The limit is in [limits.md](limits.md).',
  },
  'rjct.errors.too_many': { sender: 'Correct each item by its own code and text, and send them in a new message.' },

  'rjct.reference_id.invalid': {
    sender: 'Give each item a reference_id of 1 to 99 characters. In a status question name what you have sent.',
  },
  'rjct.reference_id.duplicate': { sender: 'Give each item of a message a reference_id of its own.' },
  'rjct.timestamp.invalid': {
    sender: 'Set your clock, and write the present time with its zone into the timestamp of the item.',
  },
  'rjct.search_criteria.invalid': {
    sender:
      'Read the text: it names the member, and lists what you may use there. [query.md](query.md) has examples of all forms, [consent.md](consent.md) of consents.',
    operator: '`rollcall grant explain` says what it may ask; `rollcall index apply` fills an attribute that waits.',
  },
  'rjct.filter.invalid': { sender: 'Correct the syntax of the text. For GraphQL the text of the error has line and column.' },
  'rjct.sort.invalid': {
    sender: 'Sort by an attribute that the reference page marks as sortable, each once, with `asc` or `desc`.',
  },
  'rjct.pagination.invalid': {
    sender: 'Ask for smaller pages, or narrow the search, so that the page is within the cap of results.',
    operator: 'Page sizes: `max_page_size` of the participant, and `page_size` of its grant ([grants.md](grants.md)).',
  },
  'rjct.search.too_many_records_found': {
    sender: 'Narrow the search. If the text names a quota or a rate, wait as it says.',
    operator: 'The cap is `ROLLCALL_MAX_RESULTS` ([limits.md](limits.md)); quotas are in the grant.',
  },

  'rjct.notify_types.invalid': { sender: 'Use an event type and a record type from the list in the text.' },
  'rjct.notify_details.invalid': {
    sender:
      'Correct the member that the text names. Give an address for notifications: `sender_uri`, or one that the operator registers.',
    operator:
      '`rollcall participant subscriptions SENDER_ID --max` sets their number. Without a filter they need `unfiltered` in the grant.',
  },
  'rjct.person_id.invalid': { sender: 'Correct the type and the value of the identifier.' },
  'rjct.event.already_subscribed': {
    sender: 'Use the subscription that the text names. Another `end_time` renews it; to change more, unsubscribe first.',
  },

  'rjct.subscription_code.invalid': {
    sender: 'Use the code from the answer to your own subscription, in the registry where you made it.',
  },
  'rjct.requester.invalid': {
    sender: 'Ask the operator: the grant does not have such a subscription any more.',
    operator: '`rollcall subscriptions show CODE` and `rollcall grant explain` show both sides.',
  },
  'rjct.event.already_unsubscribed': { sender: 'Nothing is to be done: the subscription has ended.' },
}

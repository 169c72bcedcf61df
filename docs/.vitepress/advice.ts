/** What to do about each code: the column of docs/troubleshooting.md that people write. */
import type { CodeRow } from '../../packages/protocol/src/codes.ts'

/** A code without advice does not compile. `sender` is for whoever got the code, `operator` for whom it asks for help. */
export interface Advice {
  readonly sender: string
  readonly operator?: string
}

export const ADVICE: Readonly<Record<CodeRow['code'], Advice>> = {
  'err.request.bad': {
    sender:
      'Read the text: it names the member and the rule. Correct the message and send it with a new message_id. The same message is refused again.',
    operator: 'The access log has the time, the participant and the code, never the content.',
  },
  'err.request.unauthorized': {
    sender:
      'Get a new access token, and send the same message again. If a fresh token is refused too, check that it comes from this server.',
    operator:
      'See whether the participant is disabled: `rollcall participant list`. Give it a new secret: `rollcall participant secret rotate`.',
  },
  'err.request.forbidden': {
    sender:
      'Sending it again does not help. Ask the operator of the registry for a grant that has this operation, and check that you do not ask a live registry as a sandbox participant.',
    operator:
      'See what is granted: `rollcall grant explain SENDER_ID NAMESPACE`. It also says from when and until when the grant counts.',
  },
  'err.request.not_found': {
    sender:
      'Compare the address with the reference page of the registry: namespace, version and path. Not every kind of registry has every operation.',
    operator: '`rollcall registry list` shows the namespaces that there are.',
  },
  'err.request.timeout': {
    sender: 'Send the same message again, with the same message_id. If it is large, send less at a time.',
    operator:
      'Look at the time of searches in the metrics, at missing indexes (`rollcall index plan`), and at `pg_stat_statements` of PostgreSQL. The limits are in [limits.md](limits.md).',
  },
  'err.version.not_supported': { sender: 'Write `"version": "1.0.0"` into the header.' },
  'err.request.too_many_requests': {
    sender: 'Wait as many seconds as `Retry-After` says. Then send the same message again, with the same message_id.',
    operator:
      'The limits of a participant are members of the configuration file ([configuration.md](configuration.md)), those of the server are in [limits.md](limits.md).',
  },
  'err.sender_id.invalid': {
    sender:
      'Write into `header.sender_id` the name under which the operator has added you. It belongs to the client whose token you use.',
  },
  'err.sender_uri.invalid': {
    sender:
      'Ask the operator to allow the address, or leave `sender_uri` out: then the answer goes to the address that is registered for you.',
    operator:
      'Allow the address: `rollcall participant callback SENDER_ID --allow ADDRESS`. For another port, a private network or plain HTTP also allow the host: `rollcall participant host allow`.',
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
      'Compare your bytes with the vectors in `conformance/signature`. The usual causes: another order of members, another key than the registered one, a clock that is wrong, `created` and `expires` more than an hour apart, a message that was changed after it was signed.',
    operator:
      'Find out how the participant signs, with one of its messages: `rollcall keys probe message.json --key public-key.pem` ([onboarding.md](onboarding.md#3-how-it-signs)).',
  },
  'err.encryption.invalid': {
    sender:
      'Get our public key anew from `/.well-known/jwks.json`, and encrypt again: a ciphertext is good for one message. Register a key of yours for encryption, with which the answer is encrypted.',
    operator:
      'Look at the policy and the keys: `rollcall participant policy SENDER_ID`, `rollcall participant key list SENDER_ID`.',
  },
  'err.service.unavailable': {
    sender:
      'Wait as `Retry-After` says, or some seconds, and send the same message again, with the same message_id. It is answered once.',
    operator:
      'Look at `/ready` and at the log: the database, its disk, or the accounts of access cannot be written ([monitoring.md](monitoring.md)).',
  },

  'rjct.version.invalid': { sender: 'Write `"version": "1.0.0"` into the header.' },
  'rjct.message_id.duplicate': {
    sender:
      'Use a new message_id for every new message, such as a UUID. Keep the message_id only when you send the same message again.',
  },
  'rjct.message_ts.invalid': {
    sender: 'Set your clock, and write the present time with its zone into `message_ts`.',
    operator: 'The window is `ROLLCALL_MESSAGE_TS_WINDOW` ([limits.md](limits.md)).',
  },
  'rjct.action.invalid': {
    sender: 'Send the message to the path of its action, or write the action of the path into the header.',
  },
  'rjct.action.not_supported': {
    sender: 'Correct the spelling of `header.action`. The reference page shows it in each example.',
  },
  'rjct.total_count.invalid': { sender: 'Write the number of items of the message into `total_count`.' },
  'rjct.total_count.limit_exceeded': {
    sender: 'Send the items in several messages, or as a file ([uploads.md](uploads.md)).',
    operator: 'The limit is in [limits.md](limits.md).',
  },
  'rjct.errors.too_many': {
    sender: 'Look at each item: it has its own code and text. Correct the items, and send them in a new message.',
  },

  'rjct.reference_id.invalid': {
    sender: 'Give each item a reference_id of 1 to 99 characters. In a status question name what you have sent.',
  },
  'rjct.reference_id.duplicate': { sender: 'Give each item of a message a reference_id of its own.' },
  'rjct.timestamp.invalid': {
    sender: 'Set your clock, and write the present time with its zone into the timestamp of the item.',
  },
  'rjct.search_criteria.invalid': {
    sender:
      'Read the text: it names the member, and lists what you may use there. What is not granted to you is answered as if it did not exist. [query.md](query.md) has examples of all forms. Where a consent is missing, send one ([consent.md](consent.md)).',
    operator:
      'See what the participant may ask: `rollcall grant explain`. An attribute that waits for its index: `rollcall index apply`.',
  },
  'rjct.filter.invalid': {
    sender: 'Correct the syntax of the text. For GraphQL the text of the error has line and column.',
  },
  'rjct.sort.invalid': {
    sender: 'Sort by an attribute that the reference page marks as sortable, each once, with `asc` or `desc`.',
  },
  'rjct.pagination.invalid': {
    sender: 'Ask for smaller pages, or narrow the search, so that the page is within the cap of results.',
    operator: 'Page sizes: `max_page_size` of the participant, and `page_size` of its grant ([grants.md](grants.md)).',
  },
  'rjct.search.too_many_records_found': {
    sender: 'Narrow the search with more conditions. If the text names a quota, wait until the time that it says.',
    operator: 'The cap is `ROLLCALL_MAX_RESULTS` ([limits.md](limits.md)); quotas are in the grant.',
  },

  'rjct.notify_types.invalid': { sender: 'Use an event type and a record type from the list in the text.' },
  'rjct.notify_details.invalid': {
    sender:
      'Read the text: it names the member of the criteria, of the filter or of the frequency. Give an address for notifications: `sender_uri`, or one that the operator registers.',
    operator:
      'The number of subscriptions: `rollcall participant subscriptions SENDER_ID --max`. Subscriptions without a filter need `unfiltered` in the grant.',
  },
  'rjct.person_id.invalid': {
    sender:
      'Correct the identifier: its type must be one of the registry, and its value must have the form of the type.',
  },
  'rjct.event.already_subscribed': {
    sender:
      'Use the subscription that the text names. To change only the end, subscribe with another `end_time`. To change more, unsubscribe first.',
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

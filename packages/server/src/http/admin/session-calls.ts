/** The calls that sign an operator in to the console and out, with their inputs and answers. */

import { closed, flag, instant, Namespace, NO_INPUT, orNull, text, wholeNumber } from '@rollcall/admin/members'
import { OPERATOR_ROLES } from '@rollcall/core/model/operator'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import type { DescribedCall } from './route.ts'

/** A way in which an operator can sign in on this server. */
export const SIGN_IN_METHOD = closed({
  method: oneOf(['token', 'openid'], {
    description: 'token: with a token of the admin API; openid: at a provider of OpenID Connect.',
  }),
  title: text('For a button, in English.'),
  start: orNull(text('The path of the call that begins it; null: beginSession takes it.')),
})

const SESSION_ANSWER = closed({
  operator: text('Who is signed in.'),
  roles: Type.Array(oneOf(OPERATOR_ROLES), { description: 'Every role that the operator has, also by another one.' }),
  registries: orNull(Type.Array(Namespace, { description: 'Registries that the operator is bound to.' })),
  expires_at: instant('When the session ends at the latest.'),
  idle_seconds: wholeNumber('Seconds without a call of the operator after which it ends.'),
  two_person: flag('Whether a second operator must approve some acts.'),
  demo: flag('Whether the data are those of a demo.'),
  demo_page: orNull(text('The address of the own page of a demo; null: the data are not those of a demo.')),
  sign_in: Type.Array(SIGN_IN_METHOD, { description: 'The ways to sign in.' }),
})

const SESSION_CALL_DEFAULTS = { audience: 'operator', hidden: [], status: 200, deprecated: undefined } as const

/** The descriptions of the calls that sign in, say who is signed in, and sign out. They need no role. */
export const SESSION_CALLS = {
  begin: {
    ...SESSION_CALL_DEFAULTS,
    method: 'POST',
    path: '/session',
    name: 'beginSession',
    status: 201,
    summary:
      'Signs in to the console: with a token, or with the code of a link, which is good once. Sets the cookie of the session.',
    input: closed({
      token: Type.Optional(text('A token that `rollcall operator add` printed.')),
      code: Type.Optional(text('The code of a link that `rollcall operator link` printed.')),
    }),
    result: SESSION_ANSWER,
  },
  show: {
    ...SESSION_CALL_DEFAULTS,
    method: 'GET',
    path: '/session',
    name: 'showSession',
    summary: 'Who is signed in. Signed out it answers 401, with the ways to sign in (`sign_in`).',
    input: NO_INPUT,
    result: SESSION_ANSWER,
  },
  end: {
    ...SESSION_CALL_DEFAULTS,
    method: 'POST',
    path: '/session/end',
    name: 'endSession',
    summary: 'Signs out: the session ends on every node.',
    input: NO_INPUT,
    result: NO_INPUT,
  },
} as const satisfies Record<string, DescribedCall>

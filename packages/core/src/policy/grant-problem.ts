/** The grant cannot be read. The message names the member and the rule. */
export class GrantProblem extends Error {
  override readonly name = 'GrantProblem'

  /** The dotted path of the member. */
  readonly member: string
  readonly rule: string

  constructor(member: string, rule: string) {
    super(`${member}: ${rule}`)
    this.member = member
    this.rule = rule
  }
}

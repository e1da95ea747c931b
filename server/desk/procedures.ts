import { initTRPC } from '@trpc/server'
import { byPhone, type ChangeName, changes } from './changes.ts'
import type { ChangeInput, Desk } from './desk.ts'
import { inputs, takeBackInput } from './inputs.ts'
import type { Session } from './sessions.ts'

const { router, procedure } = initTRPC.context<{ desk: Desk; session: Session; isGone: () => boolean }>().create()

export type DeskRouter = typeof deskRouter

function procedureOf<Name extends ChangeName>(name: Name) {
  const { input } = changes[name]
  return procedure
    .input(input as { _zod: { input: ChangeInput<Name>; output: ChangeInput<Name> } } & typeof input)
    .mutation(({ ctx, input }) => ctx.desk.change(ctx.session, name, input as ChangeInput<Name>))
}
type ChangeProcedures = { [Name in ChangeName]: ReturnType<typeof procedureOf<Name>> }

/** For a session only: routes.ts refuses calls without one before their input is read. */
export const deskRouter = router({
  desk: router({
    list: procedure.input(inputs.list).query(({ ctx, input }) => ctx.desk.list(ctx.session, input, ctx.isGone)),
    pulse: procedure.input(inputs.pulse).query(({ ctx, input }) => ctx.desk.pulse(ctx.session, input)),
    show: procedure.input(inputs.show).query(({ ctx, input }) => ctx.desk.show(ctx.session, input)),
    person: procedure.input(inputs.person).query(({ ctx, input }) => ctx.desk.person(ctx.session, input)),
    add: procedure.input(byPhone).mutation(({ ctx, input }) => ctx.desk.add(ctx.session, input)),
    takeBack: procedure.input(takeBackInput).mutation(({ ctx, input }) => ctx.desk.takeBack(ctx.session, input)),
    ...(Object.fromEntries(
      (Object.keys(changes) as ChangeName[]).map((name) => [name, procedureOf(name)]),
    ) as ChangeProcedures),
  }),
})

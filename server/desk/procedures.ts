import { initTRPC } from '@trpc/server'
import type { Desk } from './desk.ts'
import { inputs } from './inputs.ts'
import type { Session } from './sessions.ts'

const { router, procedure } = initTRPC.context<{ desk: Desk; session: Session }>().create()

export type DeskRouter = typeof deskRouter

/** For a session only: routes.ts refuses calls without one before their input is read. */
export const deskRouter = router({
  desk: router({
    list: procedure.input(inputs.list).query(({ ctx, input }) => ctx.desk.list(ctx.session, input)),
    show: procedure.input(inputs.show).query(({ ctx, input }) => ctx.desk.show(ctx.session, input)),
    setStatus: procedure.input(inputs.setStatus).mutation(({ ctx, input }) => ctx.desk.setStatus(ctx.session, input)),
    setSpam: procedure.input(inputs.setSpam).mutation(({ ctx, input }) => ctx.desk.setSpam(ctx.session, input)),
    addNote: procedure.input(inputs.addNote).mutation(({ ctx, input }) => ctx.desk.addNote(ctx.session, input)),
    removeNote: procedure
      .input(inputs.removeNote)
      .mutation(({ ctx, input }) => ctx.desk.removeNote(ctx.session, input)),
    addCall: procedure.input(inputs.addCall).mutation(({ ctx, input }) => ctx.desk.addCall(ctx.session, input)),
    sendAgain: procedure.input(inputs.sendAgain).mutation(({ ctx, input }) => ctx.desk.sendAgain(ctx.session, input)),
  }),
})

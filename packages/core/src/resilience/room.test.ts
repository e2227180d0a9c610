import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRoom, type Place } from './room.ts';

describe('the room', () => {
  it('has as many places as it has, and gives them on in the order of those who wait', async () => {
    const room = createRoom(2);
    const [first, second] = [room.take(), room.take()];
    expect([first, second, room.take()]).toEqual([0, 0, undefined]);
    const order: string[] = [];
    const waiting = ['a', 'b'].map((name) => room.wait().then((place) => (order.push(name), place)));
    room.leave(first as Place);
    room.leave(second as Place);
    await Promise.all(waiting);
    expect(order).toEqual(['a', 'b']);
    expect(room.take()).toBeUndefined();
  });

  it('that is cleared owes nobody, and who comes out of it later leaves no place twice', async () => {
    const room = createRoom(1);
    const before = room.take() as Place;
    const waiting = room.wait();
    room.clear();
    const after = await waiting;
    room.leave(before);
    expect(room.take()).toBeUndefined();
    room.leave(after);
    expect(room.take()).toBeDefined();
  });

  it('never holds more than its size, and forgets nobody who waits', async () => {
    const steps = fc.array(fc.constantFrom('take', 'wait', 'leave', 'clear'), { maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const room = createRoom(3);
        let inside: Place[] = [];
        let filling = 0;
        let waiting = 0;
        for (const step of script) {
          if (step === 'take') {
            const place = room.take();
            if (place !== undefined) inside.push(place);
          } else if (step === 'wait') {
            waiting++;
            void room.wait().then((place) => (waiting--, inside.push(place)));
          } else if (step === 'leave') {
            const place = inside.shift();
            if (place !== undefined) room.leave(place);
          } else {
            inside = [];
            filling++;
            room.clear();
          }
          // oxlint-disable-next-line no-await-in-loop -- step by step
          await Promise.resolve();
          expect(inside.filter((place) => place === filling).length).toBeLessThanOrEqual(3);
        }
        for (let i = 0; i < 300; i++) {
          const place = inside.shift();
          if (place === undefined) room.clear();
          else room.leave(place);
          // oxlint-disable-next-line no-await-in-loop -- step by step
          await Promise.resolve();
        }
        expect(waiting).toBe(0);
      }),
    );
  });
});

//! Which streams of a connection have news.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

use super::Slot;

/// The slots of streams that have news, in the order in which it came. One may be named twice.
#[derive(Default)]
pub struct News {
    slots: Slots,
    /// By slot.
    wakers: Vec<Waker>,
    /// Memory for the next slots.
    spare: Vec<Slot>,
}

/// Wakers can be sent to other threads, so what they share is locked. All of it belongs to one thread here: nobody ever waits.
type Slots = Arc<Mutex<Vec<Slot>>>;

struct Bell {
    slot: Slot,
    slots: Slots,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        locked(&self.slots).push(self.slot);
    }
}

fn locked(slots: &Slots) -> MutexGuard<'_, Vec<Slot>> {
    slots.lock().unwrap_or_else(PoisonError::into_inner)
}

impl News {
    /// Notes a slot as if its stream had called.
    pub fn note(&mut self, slot: Slot) {
        while self.wakers.len() <= usize::from(slot) {
            let bell = Bell { slot: self.wakers.len() as Slot, slots: Arc::clone(&self.slots) };
            self.wakers.push(Arc::new(bell).into());
        }
        locked(&self.slots).push(slot);
    }

    /// What the stream in this slot calls when there is more of it. The slot must have been noted before.
    pub fn waker(&self, slot: Slot) -> &Waker {
        &self.wakers[usize::from(slot)]
    }

    /// All slots with news so far.
    pub fn take(&mut self) -> Vec<Slot> {
        std::mem::replace(&mut *locked(&self.slots), std::mem::take(&mut self.spare))
    }

    /// Keeps the memory of slots that are done with.
    pub fn give_back(&mut self, mut slots: Vec<Slot>) {
        slots.clear();
        self.spare = slots;
    }
}

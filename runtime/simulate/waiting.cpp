// Built for simulations only (cmake/layers.cmake).
#include "runtime/simulate/waiting.hpp"

#include <starpu.h>

namespace quarkstar::runtime::simulate {

// StarPU's are those of SimGrid's actors.
struct Mutex::Native {
  starpu_pthread_mutex_t mutex;
};
struct Condition::Native {
  starpu_pthread_cond_t condition;
};

Mutex::Mutex() : native_(std::make_unique<Native>()) { starpu_pthread_mutex_init(&native_->mutex, nullptr); }
Mutex::~Mutex() { starpu_pthread_mutex_destroy(&native_->mutex); }
void Mutex::lock() { starpu_pthread_mutex_lock(&native_->mutex); }
void Mutex::unlock() { starpu_pthread_mutex_unlock(&native_->mutex); }

Condition::Condition() : native_(std::make_unique<Native>()) { starpu_pthread_cond_init(&native_->condition, nullptr); }
Condition::~Condition() { starpu_pthread_cond_destroy(&native_->condition); }
void Condition::notify_one() { starpu_pthread_cond_signal(&native_->condition); }
void Condition::notify_all() { starpu_pthread_cond_broadcast(&native_->condition); }
void Condition::wait_once(Mutex& mutex) { starpu_pthread_cond_wait(&native_->condition, &mutex.native_->mutex); }

}  // namespace quarkstar::runtime::simulate

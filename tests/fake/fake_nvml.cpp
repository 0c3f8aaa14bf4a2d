// A stand-in for NVIDIA's management library: answers as the test last told it through fake_nvml_set.
namespace {
unsigned long long energy_mj = 0;
unsigned power_mw = 0;
int energy_code = 0, power_code = 0, init_code = 0, running = 0;
int device;
constexpr int not_found = 6;
}  // namespace

extern "C" {

void fake_nvml_set(int init, int energy, unsigned long long millijoules, int power, unsigned milliwatts) {
  init_code = init, energy_code = energy, energy_mj = millijoules, power_code = power, power_mw = milliwatts;
}
/// nvmlInit calls that no nvmlShutdown has followed.
int fake_nvml_running() { return running; }

int nvmlInit_v2() {
  running += init_code == 0 ? 1 : 0;
  return init_code;
}
int nvmlShutdown() {
  --running;
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** handle) {
  *handle = &device;
  return id[0] == '0' ? 0 : not_found;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = energy_mj;
  return energy_code;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = power_mw;
  return power_code;
}
const char* nvmlErrorString(int code) { return code == not_found ? "Not Found" : "Not Supported"; }
}

// SPDX-License-Identifier: Apache-2.0
// Exceptions through many frames, with objects on the way that are destroyed; some are thrown again.
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Guard {
	std::string text;
	int &count;
	Guard(int n, int &count_) : text("guard " + std::to_string(n)), count(count_) {}
	~Guard() { count += static_cast<int>(text.size()); }
};

__attribute__((noinline)) int down(int n, int &count)
{
	Guard guard(n, count);

	if (n == 0)
		throw std::runtime_error("at the bottom " + guard.text);
	if (n % 5 == 0) {
		try {
			return down(n - 1, count) + 1;
		} catch (const std::runtime_error &) {
			count++;
			throw;
		}
	}
	return down(n - 1, count) + 1;
}

} // namespace

int main()
{
	std::map<std::string, int> seen;
	int count = 0;

	for (int i = 0;; i = (i + 1) % 1000) {
		try {
			count += down(i % 23, count);
		} catch (const std::exception &e) {
			seen[e.what()] += count & 1;
		}
	}
}

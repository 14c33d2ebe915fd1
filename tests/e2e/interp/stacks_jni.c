// SPDX-License-Identifier: Apache-2.0
// Native methods of Stacks.java: each calls back into Java, in another way.
#include <jni.h>

#define KEEP __attribute__((noinline, noipa))

// Its result is changed, so that no call is in place of a return.
KEEP int c_static(JNIEnv *env, jclass class, const char *name, jint n)
{
	const jmethodID m = (*env)->GetStaticMethodID(env, class, name, "(I)I");

	return (*env)->CallStaticIntMethod(env, class, m, n) + 1;
}

KEEP int c_again(JNIEnv *env, jclass class, jint n, int depth)
{
	return depth ? c_again(env, class, n, depth - 1) + 1 : c_static(env, class, "next", n);
}

JNIEXPORT jint JNICALL Java_Stacks_inC(JNIEnv *env, jclass class, jint n)
{
	return c_static(env, class, "next", n) - 1;
}

JNIEXPORT jint JNICALL Java_Stacks_deepInC(JNIEnv *env, jclass class, jint n)
{
	return c_again(env, class, n, 3) - 4;
}

JNIEXPORT jint JNICALL Java_Stacks_constructedInC(JNIEnv *env, jclass class, jint n)
{
	const jclass second = (*env)->FindClass(env, "Stacks$Second");
	const jmethodID m = (*env)->GetMethodID(env, second, "<init>", "(I)V");
	const jobject o = (*env)->NewObject(env, second, m, n);

	(void)class;
	(*env)->DeleteLocalRef(env, o);
	return 1;
}

JNIEXPORT jint JNICALL Java_Stacks_caughtInC(JNIEnv *env, jclass class, jint n)
{
	c_static(env, class, "thrower", n / 2);
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	return c_static(env, class, "next", n / 2);
}

JNIEXPORT jint JNICALL Java_Stacks_virtualInC(JNIEnv *env, jobject self, jint n)
{
	const jmethodID m =
		(*env)->GetMethodID(env, (*env)->GetObjectClass(env, self), "callee", "(I)I");

	return (*env)->CallIntMethod(env, self, m, n) + 1;
}
